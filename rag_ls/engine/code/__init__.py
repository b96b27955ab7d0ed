"""Answers to a client about the code of its project: functions of its session."""
