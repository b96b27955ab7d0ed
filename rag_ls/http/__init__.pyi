# The names that other rooms may use.
from rag_ls.http.server import HttpServer as HttpServer
from rag_ls.http.tokens import Access as Access
from rag_ls.http.tokens import Token as Token
from rag_ls.http.tokens import TokenFile as TokenFile
from rag_ls.http.tokens import lifetime_of as lifetime_of
