"""What a person does about a state that no job ends: each sentence that names a command.

`hdfs` and `verbs` have the commands, each once. The other modules have the sentences, by what they are about. They take
texts only, so that everything may use them.
"""
