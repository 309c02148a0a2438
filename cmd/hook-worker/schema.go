package main

import (
	"fmt"

	workerschema "github.com/hookrouter/hookrouter/internal/workerfile/schema"
)

// schema is the command that prints the JSON Schema of worker files.
type schema struct{}

func (schema) Run(p process) error {
	if _, err := p.stdout.Write(workerschema.JSON()); err != nil {
		return fmt.Errorf("write the schema: %w", err)
	}
	return nil
}
