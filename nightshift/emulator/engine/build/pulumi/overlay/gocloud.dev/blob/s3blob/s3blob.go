// Package s3blob leaves Amazon's storage out of this build.
package s3blob
