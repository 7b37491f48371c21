// Package gcsblob leaves Google's storage out of this build.
package gcsblob

// Scheme is the URL scheme of Google's storage.
const Scheme = "gs"
