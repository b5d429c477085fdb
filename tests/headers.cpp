// Of the targets whose precompiled headers tests share.
