package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestNATSURLSaysWhereTheBusIs(t *testing.T) {
	file := write(t, twoHooks)
	for name, variables := range map[string][]string{"nats://127.0.0.1:2": {"NATS_URL"}, "nats://127.0.0.1:3": {"NATS_URL", "HOOK_WORKER_NATS_URL"}} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range variables {
				t.Setenv(variable, "nats://127.0.0.1:2")
			}
			t.Setenv(variables[len(variables)-1], name) // the worker's own goes first
			var stderr bytes.Buffer
			err := run(t.Context(), []string{"--config", file}, process{stdout: &bytes.Buffer{}, stderr: &stderr})
			if err == nil || !strings.Contains(err.Error(), "connect to NATS at "+name) {
				t.Errorf("run = %v; want that it connects to %s", err, name)
			}
		})
	}
}
