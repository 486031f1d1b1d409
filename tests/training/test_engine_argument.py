"""The argument `engine`: what it may be."""

from types import SimpleNamespace

import pytest
from estimators import GROUPS, TEXT, TRAINED_CLASSES, corpus, make

from skembed._shards.engines import Inline

pytestmark = pytest.mark.filterwarnings("ignore:n_shards=.* leaves each shard")


@pytest.mark.parametrize("name", [name for name in TRAINED_CLASSES if "n_shards" not in make(name).get_params()])
def test_other_methods_refuse_an_engine(name):
    with pytest.raises(TypeError, match="engine"):
        make(name).fit(TEXT, groups=GROUPS, engine=Inline())
    with pytest.raises(TypeError, match="n_shards"):
        type(make(name))(n_shards=2)


def test_wrong_engine():
    for n_shards in (None, 1, 2):
        with pytest.raises(ValueError, match="engine must be None or a client"):
            make("CBOSVectorizer", n_shards=n_shards).fit(corpus(), engine="processes")
    with pytest.warns(UserWarning, match="n_shards=None leaves nothing to an engine"):
        make("CBOSVectorizer").fit(corpus(), engine=Inline())


@pytest.mark.parametrize(
    "engine, advice",
    [
        ("tcp://127.0.0.1:8786", r"Pass Client\('tcp://127.0.0.1:8786'\)\."),
        (SimpleNamespace(get_client=None), "Pass Client"),
    ],
    ids=["an address", "a cluster"],
)
def test_what_is_no_client_yet(engine, advice):
    with pytest.raises(ValueError, match=f"engine must be None or .*{advice}"):
        make("CBOSVectorizer", n_shards=2).fit(corpus(), engine=engine)
