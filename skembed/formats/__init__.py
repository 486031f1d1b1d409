"""Files of other programs: models read as fitted estimators and written, word vectors read and written."""

from skembed._word_vectors.read import read_word_vectors
from skembed._word_vectors.write import to_gensim, write_word_vectors
from skembed.formats._exporting import export_model
from skembed.formats._importing import import_model

__all__ = ["export_model", "import_model", "read_word_vectors", "to_gensim", "write_word_vectors"]
