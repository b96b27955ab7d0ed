"""Operations on a project's rules: set-up, constraints for a change, impact.

Names and limits are a contract: agents are configured for them (docs/rules.md).
"""
