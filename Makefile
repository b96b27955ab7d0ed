.PHONY: try test lint bench eval docs vscode
try test lint bench eval docs vscode:
	python3 scripts/dev.py $@ $(ARGS)
