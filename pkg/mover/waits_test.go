package mover

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWritingSaysWhatMayBeInTheWay(t *testing.T) {
	assert.Equal(t, "node group ng2 to write 80 rows", writing("ng2", 80, time.Second))
	assert.Contains(t, writing("ng2", 80, time.Minute), "LOCK TABLES")
}
