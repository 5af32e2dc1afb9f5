"""PostHog: visitors of a website, and an alert about them."""

from coilclaw.integrations.posthog.tools import create_threshold_job, get_visitors

__all__ = ["create_threshold_job", "get_visitors"]
