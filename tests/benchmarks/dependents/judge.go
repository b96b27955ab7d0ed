// Prints, for each Go file below a folder, the files whose package-level names it uses, as go/types resolves them.
// One line an edge: the using file, a tab, the declaring file; and one for each file that was read. What is not in the folder counts as unknown.
package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

var modulePattern = regexp.MustCompile(`(?m)^\s*module\s+"?([^\s"]+)`)

type world struct {
	fset    *token.FileSet
	modules map[string]string // module path -> folder
	done    map[string]*types.Package
	edges   map[string]bool
	root    string
}

func (w *world) folderOf(path string) string {
	best := ""
	for module := range w.modules {
		if (path == module || strings.HasPrefix(path, module+"/")) && len(module) > len(best) {
			best = module
		}
	}
	if best == "" {
		return ""
	}
	return filepath.Join(w.modules[best], strings.TrimPrefix(path, best))
}

func (w *world) Import(path string) (*types.Package, error) {
	if found, ok := w.done[path]; ok {
		return found, nil
	}
	folder := w.folderOf(path)
	if folder == "" {
		name := path[strings.LastIndex(path, "/")+1:]
		w.done[path] = types.NewPackage(path, name)
		w.done[path].MarkComplete()
		return w.done[path], nil
	}
	w.done[path] = types.NewPackage(path, filepath.Base(folder)) // a cycle ends here
	files := w.parse(folder, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
	w.done[path] = w.check(path, files)
	return w.done[path], nil
}

func (w *world) parse(folder string, wanted func(string) bool) []*ast.File {
	entries, _ := os.ReadDir(folder)
	var files []*ast.File
	for _, entry := range entries {
		if entry.IsDir() || !strings.HasSuffix(entry.Name(), ".go") || !wanted(entry.Name()) {
			continue
		}
		if ok, _ := build.Default.MatchFile(folder, entry.Name()); !ok {
			continue
		}
		file, err := parser.ParseFile(w.fset, filepath.Join(folder, entry.Name()), nil, parser.SkipObjectResolution)
		if file != nil && err == nil {
			files = append(files, file)
			w.edges[w.relative(filepath.Join(folder, entry.Name()))] = true
		}
	}
	return files
}

func (w *world) check(path string, files []*ast.File) *types.Package {
	byName := map[string][]*ast.File{}
	for _, file := range files {
		byName[file.Name.Name] = append(byName[file.Name.Name], file)
	}
	var kept *types.Package
	for name, group := range byName {
		info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
		config := types.Config{Importer: w, Error: func(error) {}, DisableUnusedImportCheck: true}
		checked, _ := config.Check(path, w.fset, group, info)
		if kept == nil || !strings.HasSuffix(name, "_test") {
			kept = checked
		}
		for ident, object := range info.Uses {
			if object.Pkg() == nil || object.Parent() != object.Pkg().Scope() {
				continue
			}
			from, to := w.fset.Position(ident.Pos()).Filename, w.fset.Position(object.Pos()).Filename
			if from != to && to != "" {
				w.edges[w.relative(from)+"\t"+w.relative(to)] = true
			}
		}
	}
	return kept
}

func (w *world) relative(path string) string {
	found, _ := filepath.Rel(w.root, path)
	return filepath.ToSlash(found)
}

func main() {
	root, _ := filepath.Abs(os.Args[1])
	w := &world{token.NewFileSet(), map[string]string{}, map[string]*types.Package{}, map[string]bool{}, root}
	folders := map[string]bool{}
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return nil
		}
		if info.IsDir() && (info.Name() == ".git" || info.Name() == "vendor" || info.Name() == "testdata") {
			return filepath.SkipDir
		}
		if info.Name() == "go.mod" {
			content, _ := os.ReadFile(path)
			if match := modulePattern.FindSubmatch(content); match != nil {
				w.modules[string(match[1])] = filepath.Dir(path)
			}
		}
		if strings.HasSuffix(path, ".go") {
			folders[filepath.Dir(path)] = true
		}
		return nil
	})
	for folder := range folders {
		for module, place := range w.modules {
			if inside, err := filepath.Rel(place, folder); err == nil && !strings.HasPrefix(inside, "..") {
				name := module
				if inside != "." {
					name = module + "/" + filepath.ToSlash(inside)
				}
				if w.folderOf(name) == folder {
					w.Import(name)
					w.check(name, w.parse(folder, func(string) bool { return true })) // with its tests
				}
			}
		}
	}
	lines := make([]string, 0, len(w.edges))
	for edge := range w.edges {
		lines = append(lines, edge)
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}
