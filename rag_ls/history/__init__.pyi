# The names that other rooms may use.
from rag_ls.history.lines import LineChange as LineChange
from rag_ls.history.lines import LineHistory as LineHistory
from rag_ls.history.patches import Lines as Lines
from rag_ls.history.patches import compare_texts as compare_texts
from rag_ls.history.patches import map_back as map_back
from rag_ls.history.project_history import ProjectHistory as ProjectHistory
from rag_ls.history.search import find_commits as find_commits
