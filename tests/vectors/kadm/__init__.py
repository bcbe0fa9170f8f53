"""What kadm answers to each suite's inputs, in the words of the vectors."""
