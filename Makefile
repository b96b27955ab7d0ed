.PHONY: try test lint bench eval docs vscode page fuzz
try test lint bench eval docs vscode page fuzz:
	python3 scripts/dev.py $@ $(ARGS)
