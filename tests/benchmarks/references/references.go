// Reads [path, line, character] triples (0-based) from standard input; prints for each the [path, line] (1-based) of its
// references, and the files that were looked at. Packages of other modules are unknown to it.
package main

import (
	"encoding/json"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type place struct {
	file string
	line int
}

type folder struct {
	own, tests, outer []*ast.File
}

type checker struct {
	root    string
	set     *token.FileSet
	folders map[string]*folder
	modules map[string]string
	known   map[string]*types.Package
	library types.Importer
	uses    map[token.Pos]map[place]bool
	looked  []string
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	set := token.NewFileSet()
	checker := &checker{root, set, map[string]*folder{}, map[string]string{}, map[string]*types.Package{},
		importer.ForCompiler(set, "source", nil), map[token.Pos]map[place]bool{}, []string{}}
	checker.read()
	for path, each := range checker.folders {
		checker.check(path, append(append([]*ast.File{}, each.own...), each.tests...))
		checker.check(path+"_test", each.outer)
	}
	var asked [][]any
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		panic(err)
	}
	answers := [][][]any{}
	for _, each := range asked {
		answers = append(answers, checker.answer(each[0].(string), int(each[1].(float64)), int(each[2].(float64))))
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"answers": answers, "looked": checker.looked})
}

func (c *checker) read() {
	filepath.WalkDir(c.root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		if entry.IsDir() && (name == ".git" || name == "vendor" || name == "node_modules" || name == "testdata") {
			return filepath.SkipDir
		}
		if name == "go.mod" {
			data, _ := os.ReadFile(path)
			if found := regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`).FindSubmatch(data); found != nil {
				c.modules[string(found[1])] = filepath.Dir(path)
			}
		}
		matches, _ := build.Default.MatchFile(filepath.Dir(path), name)
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || !matches {
			return nil
		}
		file, _ := parser.ParseFile(c.set, path, nil, parser.SkipObjectResolution)
		if file == nil {
			return nil
		}
		each := c.folders[filepath.Dir(path)]
		if each == nil {
			each = &folder{}
			c.folders[filepath.Dir(path)] = each
		}
		switch {
		case strings.HasSuffix(file.Name.Name, "_test") && strings.HasSuffix(name, "_test.go"):
			each.outer = append(each.outer, file)
		case strings.HasSuffix(name, "_test.go"):
			each.tests = append(each.tests, file)
		default:
			each.own = append(each.own, file)
		}
		relative, _ := filepath.Rel(c.root, path)
		c.looked = append(c.looked, relative)
		return nil
	})
}

func (c *checker) check(path string, files []*ast.File) *types.Package {
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: c, Error: func(error) {}, FakeImportC: true}
	made, _ := config.Check(path, c.set, files, info)
	for name, object := range info.Uses {
		if object.Pos().IsValid() {
			if c.uses[object.Pos()] == nil {
				c.uses[object.Pos()] = map[place]bool{}
			}
			at := c.set.Position(name.Pos())
			c.uses[object.Pos()][place{at.Filename, at.Line}] = true
		}
	}
	return made
}

// Import checks a package of the project, without its tests; one of another module is empty.
func (c *checker) Import(path string) (*types.Package, error) {
	if made, ok := c.known[path]; ok {
		return made, nil
	}
	for module, folder := range c.modules {
		if path == module || strings.HasPrefix(path, module+"/") {
			if each := c.folders[filepath.Join(folder, strings.TrimPrefix(path, module))]; each != nil {
				c.known[path] = types.NewPackage(path, filepath.Base(path))
				c.known[path] = c.check(path, each.own)
				return c.known[path], nil
			}
		}
	}
	if !strings.Contains(strings.Split(path, "/")[0], ".") {
		if made, err := c.library.Import(path); err == nil {
			c.known[path] = made
			return made, nil
		}
	}
	made := types.NewPackage(path, strings.TrimPrefix(filepath.Base(path), "go-"))
	made.MarkComplete()
	c.known[path] = made
	return made, nil
}

func (c *checker) answer(path string, line int, character int) [][]any {
	found := [][]any{}
	c.set.Iterate(func(file *token.File) bool {
		if file.Name() != filepath.Join(c.root, path) || line >= file.LineCount() {
			return true
		}
		at := file.LineStart(line+1) + token.Pos(character)
		for each := range c.uses[at] {
			relative, _ := filepath.Rel(c.root, each.file)
			found = append(found, []any{relative, each.line})
		}
		return false
	})
	return found
}
