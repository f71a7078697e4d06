package programs

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
)

// readGitHub reads a file of .github into a value that has all documented members which we use. Others are errors.
func readGitHub(t *testing.T, into any, name ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{".github"}, name...)...))
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into))
}

type workflow struct {
	Name        string
	On          map[string]any
	Permissions map[string]string
	Concurrency map[string]string
	Defaults    struct{ Run struct{ Shell string } }
	Jobs        map[string]struct {
		Name      string
		RunsOn    string `yaml:"runs-on"`
		Container string
		Goes      string `yaml:"continue-on-error"`
		Timeout   int    `yaml:"timeout-minutes"`
		Strategy  struct {
			FailFast bool `yaml:"fail-fast"`
			Matrix   struct{ System, Go, Part, Steps []string }
		}
		Steps []struct {
			Uses, Run string
			With, Env map[string]string
		}
	}
}

// The workflows run steps of .ci/run and, with its two versions of Go on three systems, the tests of the core. They may only read,
// except for the workflow of a release, and the actions that they use are pinned.
func TestWorkflowsOnlyCallTheScript(t *testing.T) {
	t.Parallel()
	atRoot(t)
	script, err := os.ReadFile(filepath.Join(".ci", "run"))
	require.NoError(t, err)
	module, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	oldest := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.0$`).FindSubmatch(module)
	next := regexp.MustCompile(`(?m)^readonly next_go=go(\d+\.\d+)\.\d+$`).FindSubmatch(script)
	pinned := regexp.MustCompile(`^actions/[a-z-]+@[0-9a-f]{40}$`)

	commands, versions, systems, parts := map[string]bool{}, map[string]bool{}, []string{}, []string{}
	for name, permissions := range map[string]map[string]string{
		"ci.yml": {"contents": "read"}, "nightly.yml": {"contents": "read"},
		"release.yml": {"contents": "write", "packages": "write", "id-token": "write"},
	} {
		var w workflow
		readGitHub(t, &w, "workflows", name)
		require.Equal(t, permissions, w.Permissions)
		if name == "release.yml" {
			require.Equal(t, map[string]any{"push": map[string]any{"tags": []any{"v*"}}}, w.On)
		}
		require.NotEmpty(t, w.Concurrency["group"])
		require.Equal(t, "bash", w.Defaults.Run.Shell, "of Windows, and of Homebrew")
		for _, job := range w.Jobs {
			require.Positive(t, job.Timeout)
			systems, parts = append(systems, job.Strategy.Matrix.System...), append(parts, job.Strategy.Matrix.Part...)
			for _, step := range job.Steps {
				if step.Uses != "" {
					require.Regexp(t, pinned, step.Uses)
				} else {
					commands[step.Run] = true
				}
				for _, version := range append(job.Strategy.Matrix.Go, step.With["go-version"]) {
					versions[version] = true
				}
			}
		}
	}
	require.Equal(t, map[string]bool{"bash .ci/run ${{ matrix.part }}": true, "go test ./...": true, "bash .ci/run ${{ matrix.steps }}": true, "bash .ci/run release_page": true}, commands)
	require.Equal(t, map[string]bool{
		string(oldest[1]): true, string(next[1]): true, "${{ matrix.go }}": true, "": true,
	}, versions)
	for i, system := range []string{"ubuntu-", "macos-", "windows-"} {
		require.Contains(t, systems[i], system)
	}
	require.Len(t, systems, 3)
	require.Equal(t, []string{"part1", "part2", "part3"}, parts)
	require.Contains(t, string(script), `all="tools $part1 $part2 $part3 tree"`)
}

// Dependabot checks all modules in git.
func TestDependabotKnowsTheModules(t *testing.T) {
	t.Parallel()
	atRoot(t)
	var file struct {
		Version int
		Updates []struct {
			Ecosystem                string `yaml:"package-ecosystem"`
			Directory                string
			Directories              []string
			Schedule, Ignore, Groups any
		}
	}
	readGitHub(t, &file, "dependabot.yml")
	require.Equal(t, "gomod", file.Updates[0].Ecosystem)

	var modules []string
	require.NoError(t, filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if path.Base(filepath.ToSlash(name)) == "go.mod" {
			modules = append(modules, path.Join("/", path.Dir(filepath.ToSlash(name))))
		}
		return err
	}))
	require.NotEmpty(t, modules)
	require.ElementsMatch(t, modules, file.Updates[0].Directories)
}

type formElement struct {
	Type       string
	ID         string
	Attributes struct {
		Value, Label, Description, Placeholder string
		Options                                []yaml.Node
	}
	Validations struct{ Required bool }
}

// The form asks for one of the operations and one of the outcomes, forbids personal data, and requires a tick that there is none.
func TestProblemForm(t *testing.T) {
	t.Parallel()
	atRoot(t)
	var form struct {
		Name, Description string
		Body              []formElement
	}
	readGitHub(t, &form, "ISSUE_TEMPLATE", "problem.yml")
	require.NotEmpty(t, form.Name)
	require.NotEmpty(t, form.Description)
	require.Equal(t, "markdown", form.Body[0].Type)
	for _, forbidden := range []string{"names", "card", "tokens", "PINs"} {
		require.Contains(t, form.Body[0].Attributes.Value, forbidden)
	}

	elements := map[string]formElement{}
	for _, element := range form.Body[1:] {
		require.NotEmpty(t, element.Attributes.Label)
		require.NotContains(t, elements, element.ID)
		elements[element.ID] = element
	}
	options := []string{"Client.Do", "another"} // GitHub reserves "none"
	for _, operation := range reference.Read().Operations {
		options = append(options, operation.Name)
	}
	outcomes := []string{"no error"}
	for _, outcome := range []prepaid.Outcome{
		prepaid.OutcomeApplied, prepaid.OutcomeRejected, prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown,
	} {
		outcomes = append(outcomes, outcome.String())
	}
	for id, want := range map[string]struct {
		kind    string
		options []string
	}{
		"operation": {"dropdown", options}, "outcome": {"dropdown", outcomes},
		"correlation": {"input", nil}, "version": {"input", nil}, "problem": {"textarea", nil},
	} {
		element := elements[id]
		require.Equal(t, want.kind, element.Type, id)
		require.Equal(t, id != "correlation", element.Validations.Required, id)
		var options []string
		for _, option := range element.Attributes.Options {
			options = append(options, option.Value)
		}
		require.ElementsMatch(t, want.options, options, id)
		delete(elements, id)
	}
	require.Len(t, elements, 1)
	tick := elements["checked"]
	require.Equal(t, "checkboxes", tick.Type)
	var box struct {
		Label    string
		Required bool
	}
	require.Len(t, tick.Attributes.Options, 1)
	require.NoError(t, tick.Attributes.Options[0].Decode(&box))
	require.True(t, box.Required)
	require.Contains(t, box.Label, "personal data")
}
