"""The kit that code, memories and rules are ranked with: terms, signals, fusion, calibration."""
