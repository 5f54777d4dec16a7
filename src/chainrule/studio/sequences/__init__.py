"""What the activities on sequences share: texts, phrase pairs, a writer, a learner."""
