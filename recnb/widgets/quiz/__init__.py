"""Exercises: `quiz` draws one from a seed, and recognises common mistakes."""

from recnb.widgets.quiz.answer import Answer, Quiz
from recnb.widgets.quiz.make import quiz

__all__ = ["Answer", "Quiz", "quiz"]
