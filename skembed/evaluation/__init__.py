"""The protocols of the papers: estimators in, tidy results out."""

from skembed.evaluation._baselines import make_baseline
from skembed.evaluation._classification import nested_classification, pair_classification, split_classification
from skembed.evaluation._compare import compare
from skembed.evaluation._compare_search import compare_search
from skembed.evaluation._comparison import Comparison
from skembed.evaluation._documents import document_scores
from skembed.evaluation._mteb import MTEBEncoder
from skembed.evaluation._pairs import pair_features
from skembed.evaluation._relatedness import RelatednessRegressor
from skembed.evaluation._retrieval import retrieval
from skembed.evaluation._semantic import error_agreement, semantic_classification
from skembed.evaluation._sick import sick_relatedness, sick_scores
from skembed.evaluation._sts import sts_comparison, sts_intervals, sts_scores, sts_similarities
from skembed.evaluation._tuned_relatedness import FineTunedRelatednessRegressor

__all__ = [
    "Comparison",
    "FineTunedRelatednessRegressor",
    "MTEBEncoder",
    "RelatednessRegressor",
    "compare",
    "compare_search",
    "document_scores",
    "error_agreement",
    "make_baseline",
    "nested_classification",
    "pair_classification",
    "pair_features",
    "retrieval",
    "semantic_classification",
    "sick_relatedness",
    "sick_scores",
    "split_classification",
    "sts_comparison",
    "sts_intervals",
    "sts_scores",
    "sts_similarities",
]
