# The names that other rooms may use.
from rag_ls.daemon.channel import Channel as Channel
from rag_ls.daemon.channel import EngineLost as EngineLost
from rag_ls.daemon.channel import Refused as Refused
from rag_ls.daemon.channel import call as call
from rag_ls.daemon.connecting import Mode as Mode
from rag_ls.daemon.connecting import find_engine as find_engine
from rag_ls.daemon.connecting import start_and_connect as start_and_connect
from rag_ls.daemon.connecting import start_engine as start_engine
from rag_ls.daemon.connections import in_process as in_process
from rag_ls.daemon.paths import engine_paths as engine_paths
from rag_ls.daemon.paths import noted_pid as noted_pid
from rag_ls.daemon.paths import why_no_home as why_no_home
from rag_ls.daemon.records import LspRecord as LspRecord
from rag_ls.daemon.records import McpRecord as McpRecord
from rag_ls.daemon.records import Record as Record
from rag_ls.daemon.relay import Relay as Relay
from rag_ls.daemon.serve import ask_for_http as ask_for_http
