"""Facts about an index that a question reads once."""

from __future__ import annotations

import threading

from rag_ls.storage import CheckoutIndex


def _queue_elsewhere(store: CheckoutIndex, path: str) -> None:
    thread = threading.Thread(target=store.queue.add, args=([path],))
    thread.start()
    thread.join()


def test_a_block_reads_once_and_the_next_one_sees_what_was_committed_meanwhile(store: CheckoutIndex) -> None:
    with store.kept.at_one_version():
        assert store.queue_lengths() == (0, 0)
        version = store.changes()
        _queue_elsewhere(store, "a.py")
        assert (store.queue_lengths(), store.changes()) == ((0, 0), version)
        with store.kept.at_one_version():
            assert store.queue_lengths() == (1, 0)
    with store.kept.at_one_version():
        assert store.queue_lengths() == (1, 0)


def test_who_has_waited_for_others_sees_what_they_committed(store: CheckoutIndex) -> None:
    with store.kept.at_one_version():
        assert not store.queue.has_any()
        _queue_elsewhere(store, "a.py")
        store.kept.renew_version()
        assert store.queue.has_any()


def test_outside_of_a_block_nothing_is_kept(store: CheckoutIndex) -> None:
    assert not store.queue.has_any()
    _queue_elsewhere(store, "a.py")
    assert store.queue.has_any()
