package main

import (
	"fmt"
	"io"

	workerschema "github.com/hookrouter/hookrouter/internal/workerfile/schema"
)

// schema prints the JSON Schema of worker files.
type schema struct{}

func (schema) run(stdout io.Writer) error {
	if _, err := stdout.Write(workerschema.JSON()); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	return nil
}
