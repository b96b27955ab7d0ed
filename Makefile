.PHONY: try test lint bench eval docs vscode page fuzz release
try test lint bench eval docs vscode page fuzz release:
	python3 scripts/dev.py $@ $(ARGS)
