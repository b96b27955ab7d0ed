import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import javax.lang.model.element.*;
import javax.tools.*;

/**
 * Reads lines of `path line name` (1-based) from standard input; prints for each declaration of that name there a line of the
 * `path:line` of its uses, as javac attributes them without the classes of other projects; `-` where it knows none.
 */
class References {
    static final Set<ElementKind> DECLARED = EnumSet.of(ElementKind.METHOD, ElementKind.CONSTRUCTOR, ElementKind.CLASS,
            ElementKind.INTERFACE, ElementKind.ENUM, ElementKind.RECORD, ElementKind.ANNOTATION_TYPE, ElementKind.FIELD, ElementKind.ENUM_CONSTANT);

    public static void main(String[] args) throws Exception {
        Path root = Paths.get(args[0]).toRealPath();
        List<File> files = new ArrayList<>();
        try (var walk = Files.walk(root)) {
            walk.filter(each -> each.toString().endsWith(".java") && !each.toString().contains("/."))
                .filter(each -> !each.endsWith("module-info.java") && !each.endsWith("package-info.java"))
                .sorted().forEach(each -> files.add(each.toFile()));
        }
        List<String> asked = new ArrayList<>();
        try (var lines = new Scanner(System.in, StandardCharsets.UTF_8)) {
            while (lines.hasNextLine()) asked.add(lines.nextLine());
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        var options = List.of("-proc:none", "-Xmaxerrs", "1", "-Xlint:none", "-XDshould-stop.ifError=FLOW");
        var task = (JavacTask) compiler.getTask(null, manager, each -> {}, options, null, manager.getJavaFileObjectsFromFiles(files));
        List<CompilationUnitTree> units = new ArrayList<>();
        for (var unit : task.parse()) units.add(unit);
        task.analyze();
        Trees trees = Trees.instance(task);
        Map<String, Element> declared = new HashMap<>();
        Map<Element, Set<String>> uses = new HashMap<>();
        for (var unit : units) {
            String path = root.relativize(Paths.get(unit.getSourceFile().toUri())).toString();
            new Uses(trees, unit, path, declared, uses).scan(unit, null);
        }
        StringBuilder answer = new StringBuilder();
        for (String place : asked) {
            Element found = declared.get(place);
            if (found == null) answer.append('-');
            else answer.append(String.join("\t", uses.getOrDefault(found, Set.of())));
            answer.append('\n');
        }
        System.out.print(answer);
    }

    static final class Uses extends TreePathScanner<Void, Void> {
        final Trees trees;
        final CompilationUnitTree unit;
        final String path;
        final Map<String, Element> declared;
        final Map<Element, Set<String>> uses;

        Uses(Trees trees, CompilationUnitTree unit, String path, Map<String, Element> declared, Map<Element, Set<String>> uses) {
            this.trees = trees;
            this.unit = unit;
            this.path = path;
            this.declared = declared;
            this.uses = uses;
        }

        long line(long position) {
            return unit.getLineMap().getLineNumber(position);
        }

        long start(Tree tree) {
            return trees.getSourcePositions().getStartPosition(unit, tree);
        }

        void declare(Tree tree, String name) {
            Element element = trees.getElement(getCurrentPath());
            if (element == null || !DECLARED.contains(element.getKind())) return;
            long start = start(tree), end = trees.getSourcePositions().getEndPosition(unit, tree);
            if (start < 0) return;
            for (long at = line(start); at <= line(end); at++) declared.put(path + " " + at + " " + name, element);
        }

        void use(long position) {
            Element element = trees.getElement(getCurrentPath());
            if (element == null || position < 0) return;
            uses.computeIfAbsent(element, each -> new TreeSet<>()).add(path + ":" + line(position));
        }

        @Override public Void visitClass(ClassTree tree, Void nothing) {
            declare(tree, tree.getSimpleName().toString());
            return super.visitClass(tree, nothing);
        }

        @Override public Void visitMethod(MethodTree tree, Void nothing) {
            Element element = trees.getElement(getCurrentPath());
            String name = tree.getName().toString();
            if (name.equals("<init>") && element != null) name = element.getEnclosingElement().getSimpleName().toString();
            declare(tree, name);
            return super.visitMethod(tree, nothing);
        }

        @Override public Void visitVariable(VariableTree tree, Void nothing) {
            declare(tree, tree.getName().toString());
            return super.visitVariable(tree, nothing);
        }

        @Override public Void visitIdentifier(IdentifierTree tree, Void nothing) {
            use(start(tree));
            return super.visitIdentifier(tree, nothing);
        }

        @Override public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
            use(trees.getSourcePositions().getEndPosition(unit, tree) - 1);
            return super.visitMemberSelect(tree, nothing);
        }

        @Override public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
            use(trees.getSourcePositions().getEndPosition(unit, tree) - 1);
            return super.visitMemberReference(tree, nothing);
        }

        @Override public Void visitNewClass(NewClassTree tree, Void nothing) {
            use(start(tree.getIdentifier()));
            return super.visitNewClass(tree, nothing);
        }
    }
}
