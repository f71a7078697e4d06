package main

import (
	"errors"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
)

// dockerfileStages reads a Dockerfile as BuildKit does.
func dockerfileStages(name string) ([]instructions.Stage, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	parsed, err := parser.Parse(file)
	if err != nil {
		return nil, err
	}
	stages, _, err := instructions.Parse(parsed.AST, nil)
	return stages, err
}

// dockerfileConfig returns the settings of the image that a Dockerfile builds, so that both images have the same. Of the last stage it
// knows the instructions that ours has; anything else is an error.
func dockerfileConfig(name string) (v1.Config, error) {
	stages, err := dockerfileStages(name)
	if err != nil {
		return v1.Config{}, err
	}
	last := stages[len(stages)-1]
	if last.BaseName != "scratch" {
		return v1.Config{}, errors.New("the last stage of the Dockerfile must be from scratch")
	}
	config := v1.Config{ExposedPorts: make(map[string]struct{}), WorkingDir: "/"}
	for _, command := range last.Commands {
		switch c := command.(type) {
		case *instructions.CopyCommand: // rootFiles has the same files, which a test compares
		case *instructions.EnvCommand:
			for _, variable := range c.Env {
				config.Env = append(config.Env, variable.String())
			}
		case *instructions.ExposeCommand:
			for _, port := range c.Ports {
				config.ExposedPorts[port] = struct{}{}
			}
		case *instructions.UserCommand:
			config.User = c.User
		case *instructions.HealthCheckCommand:
			config.Healthcheck = &v1.HealthConfig{
				Test: c.Health.Test, Interval: c.Health.Interval, Timeout: c.Health.Timeout, StartPeriod: c.Health.StartPeriod, Retries: c.Health.Retries,
			}
		case *instructions.EntrypointCommand:
			if c.PrependShell {
				return v1.Config{}, errors.New("ENTRYPOINT needs a shell, which the image does not have")
			}
			config.Entrypoint = c.CmdLine
		default:
			return v1.Config{}, fmt.Errorf("the last stage of the Dockerfile has %s, which is not translated", command.Name())
		}
	}
	return config, nil
}
