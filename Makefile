.PHONY: try test lint bench docs
try test lint bench docs:
	python3 scripts/dev.py $@ $(ARGS)
