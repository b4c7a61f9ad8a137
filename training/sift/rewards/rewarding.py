"""Rewards of rollouts: an answer of the proxy model is parsed, the working LLM is asked at each tier, and its answers are scored."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, Field

from models.llm.port import ChatMessage, LLMAnswer
from retrieval.errors import RecallModelError
from retrieval.session_ranking.prompt import complete_at, parse_ranking
from training.sift.data.examples import Example, UserExamples
from training.sift.rewards.formulas import (
    TIERS,
    Shaping,
    annealed_beta,
    answer_reward,
    overlong_penalty,
    retrieval_reward,
    total_reward,
)
from training.sift.rewards.scoring import Scoring, score
from training.sift.rewards.working_llm import WorkingLLM, WorkingTask


class RewardOptions(BaseModel):
    """The reward's form."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sessions: int = Field(default=10, ge=1, le=15)
    """Number of sessions to rank."""
    reasoning: bool = True
    """Whether an answer must reason before it ranks."""
    scoring: Scoring = "auto"
    shaping: Shaping = "paper"
    alpha: float = Field(default=1.0, ge=0)
    """Weight of R_ans. 0: the working LLM is not asked, the ablation "w/o task-outcome reward"."""
    beta: float = Field(default=0.5, ge=0)
    """Weight of R_ret in the first epoch. The paper gives no value."""
    anneal_epochs: float = Field(default=1.0, ge=0)
    """Epochs in which beta falls to 0 after the first one."""
    max_tokens: int = Field(default=1024, ge=1)
    """Longest answer."""
    overlong_buffer: int = Field(default=256, ge=1)
    """Last tokens of it, in which the penalty grows. The paper has 4,096 of 20,480."""

    def prompt(self, user: UserExamples, example: Example) -> Sequence[ChatMessage]:
        """The prompt for an answer of this form."""
        return user.prompt(example, most=self.sessions, reasoning=self.reasoning)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """An answer of the proxy model to an example's prompt."""

    user: UserExamples
    example: Example
    text: str
    thoughts: str = ""
    tokens: int = 0

    @classmethod
    def of(cls, user: UserExamples, example: Example, answer: LLMAnswer) -> Self:
        """The rollout of a model's answer."""
        return cls(user=user, example=example, text=answer.text, thoughts=answer.thoughts, tokens=answer.usage.completion_tokens)


class Reward(BaseModel):
    """The reward of a rollout, with its parts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """The example's."""
    places: tuple[int, ...]
    """The ranking. Empty: a format violation."""
    scores: tuple[float, ...]
    """The working LLM's score at each tier. Empty: it was not asked."""
    answer: float
    """R_ans."""
    retrieval: float
    """R_ret."""
    penalty: float
    """For a long answer; 0 or negative."""
    reward: float
    error: str = ""
    """The violation of the format."""

    @property
    def score(self) -> float:
        """The working LLM's score with the whole ranking; 0 for a format violation."""
        return self.scores[-1] if self.scores else 0.0


_NONE: Final = (0.0,) * len(TIERS)


class Rewarder:
    """Computes rewards.

    Args:
        working: The working LLM. None: only if ``alpha`` is 0.
        options: The reward's form.
    """

    def __init__(self, working: WorkingLLM | None, options: RewardOptions) -> None:
        if working is None and options.alpha > 0:
            raise ValueError("a reward with alpha > 0 needs a working LLM")
        self._working = working
        self._options = options

    def rewards(self, rollouts: Sequence[Rollout], *, epoch: float = 0.0) -> list[Reward]:
        """The rewards, in the order of the rollouts.

        A format violation gets 0: too few or too many ids, unknown or repeated ones, or text outside the tags. What is cut at its longest
        also gets the overlong penalty. Examples without a right answer are rewarded for retrieval only.

        Args:
            rollouts: The rollouts.
            epoch: Epochs done, for the weight of R_ret.
        """
        parsed = [self._places(each) for each in rollouts]
        scores = self._scores(rollouts, [places for places, _ in parsed])
        return [
            self._reward(rollout, places, error, found, epoch)
            for rollout, (places, error), found in zip(rollouts, parsed, scores, strict=True)
        ]

    def _places(self, rollout: Rollout) -> tuple[tuple[int, ...], str]:
        options = self._options
        try:
            ranking = parse_ranking(
                rollout.text[: complete_at(rollout.text)],
                sessions=len(rollout.example.sessions),
                most=options.sessions,
                reasoning=options.reasoning,
                thoughts=rollout.thoughts,
            )
        except RecallModelError as error:
            return (), str(error)
        return ranking.places, ""

    def _scores(self, rollouts: Sequence[Rollout], rankings: Sequence[tuple[int, ...]]) -> list[tuple[float, ...]]:
        """The scores at each tier. Empty without a ranking or a right answer."""
        options, working = self._options, self._working
        if working is None or options.alpha == 0:
            return [()] * len(rollouts)
        tasks = [
            tuple(_tasks(rollout, places)) if places and rollout.example.answer else ()
            for rollout, places in zip(rollouts, rankings, strict=True)
        ]
        # Rollouts of a group share many tasks: the baseline, and equal sets of sessions.
        distinct = list(dict.fromkeys(task for each in tasks for task in each))
        answers = dict(zip(distinct, working.answers(distinct), strict=True))
        return [tuple(score(answers[task], task.right, scoring=options.scoring) for task in each) for each in tasks]

    def _reward(self, rollout: Rollout, places: tuple[int, ...], error: str, scores: tuple[float, ...], epoch: float) -> Reward:
        options = self._options
        penalty = overlong_penalty(rollout.tokens, most=options.max_tokens, buffer=options.overlong_buffer)
        answer = answer_reward(scores or _NONE, shaping=options.shaping)
        retrieval = retrieval_reward(places, rollout.example.gold)
        beta = annealed_beta(epoch, beta=options.beta, epochs=options.anneal_epochs)
        total = total_reward(answer, retrieval, alpha=options.alpha, beta=beta) if places else 0.0
        return Reward(
            id=rollout.example.id,
            places=places,
            scores=scores,
            answer=answer,
            retrieval=retrieval,
            penalty=penalty,
            reward=total + penalty,
            error=error,
        )


def _tasks(rollout: Rollout, places: Sequence[int]) -> Iterable[WorkingTask]:
    """The task of each tier. The sessions are oldest first: rankings of the same sessions in another order share one answer."""
    lines = {each.name: each.lines for each in rollout.user.sessions}
    for tier in TIERS:
        shown = sorted(places[:tier])
        yield WorkingTask(
            query=rollout.example.query,
            sessions=tuple(lines[rollout.example.sessions[place]] for place in shown),
            right=rollout.example.answer,
        )
