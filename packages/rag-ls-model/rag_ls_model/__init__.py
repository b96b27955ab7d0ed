"""The files of an embedding model, in `model/`. rag-ls finds them here, and checks them before it reads them."""
