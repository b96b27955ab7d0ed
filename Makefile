.PHONY: try test lint bench eval docs
try test lint bench eval docs:
	python3 scripts/dev.py $@ $(ARGS)
