"""The basic values: names, files, units, paths, attributes, amounts and times. They know no rule and no option."""
