//go:build tools

package tools

import _ "github.com/pulumi/pulumi-terraform-bridge/v3/dynamic"
