"""Decides when background work should wait: on battery, or while other programs need the processor."""

from __future__ import annotations

from rag_ls.config.engine_settings import EmbeddingSettings


def reason_to_wait(settings: EmbeddingSettings) -> str:
    """The reason why bulk embedding waits now, in the words that `status` shows; empty where it goes on."""
    if not settings.on_battery and _on_battery():
        return "on battery; embedding.on_battery = true embeds all the same"
    if settings.max_load and (load := _load_of_others()) > settings.max_load:
        return f"others keep {load:.0%} of the processor busy; embedding.max_load is {settings.max_load:.0%}"
    return ""


def _on_battery() -> bool:
    import psutil

    # psutil has this function only on some systems.
    battery = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return battery is not None and battery.power_plugged is False


def _load_of_others() -> float:
    """The share of the processor, 0..1, that other processes than ours and its children took since the last look."""
    import psutil

    times = psutil.cpu_times_percent(interval=None)
    # Our own background work runs at low priority, which the system counts apart.
    busy = 100.0 - times.idle - getattr(times, "iowait", 0.0) - getattr(times, "nice", 0.0)
    return max(0.0, float(busy) / 100.0)
