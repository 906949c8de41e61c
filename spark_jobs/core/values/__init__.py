"""The basic values: names, files, units, paths, attributes, amounts and times. They know no rule and no option.

Terms:
    file listing: the files of a directory: name, length, modification time, file id
    fingerprint: a hash of a file listing
    hidden file: a file whose name starts with `.` or `_`; with content it belongs to its writer, and stays with the
        live directory
    flag: a file without content that readers or jobs check for, such as `_SUCCESS`
"""
