"""Folders of the estimators that the common tests run through."""

from estimators import fitted, published

import skembed


def of_skembed(name):
    return published(fitted(name))


def saved(name, path, **options):
    skembed.save(of_skembed(name), path, **options)
    return path
