"""Exercises: `quiz` draws one from a seed, and recognises common mistakes."""

from recnb.widgets.quiz.question import Answer, Quiz, quiz

__all__ = ["Answer", "Quiz", "quiz"]
