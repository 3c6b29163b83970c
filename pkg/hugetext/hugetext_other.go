//go:build !linux

package hugetext

import (
	"errors"
	"fmt"
)

// Use is for Linux only; here the error wraps errors.ErrUnsupported.
func Use() (int, error) { return 0, fmt.Errorf("huge pages: %w", errors.ErrUnsupported) }
