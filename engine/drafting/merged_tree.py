"""The tree of what several drafters guess: equal paths are one, and each node names the members that guessed it.

Source: Minions (Wang et al. 2024), section 3.2 and figure 5, there for chains.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.model.token_tree import ROOT, Draft, followed


class MergedTree:
    """A tree of drafts.

    Args:
        drafts: (m,) one for each member, in their order; an empty one of a member that guesses nothing.

    Attributes:
        tokens: (N,) token ids.
        parents: (N,) index of each node's parent, -1 for the root; parents come before their children.
        sources: (N,) the members that guessed each node, ascending.
        places: (m,) of each member the node of the tree that each node of its draft has become.
    """

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.sources: list[list[int]] = []
        self.places: list[list[int]] = []
        self._child: dict[tuple[int, int], int] = {}
        for member, draft in enumerate(drafts):
            places: list[int] = []
            for token, parent in zip(draft.tokens, draft.parents, strict=True):
                key = (ROOT if parent == ROOT else places[parent], token)
                place = self._child.get(key)
                if place is None:
                    place = self._child[key] = len(self.tokens)
                    self.tokens.append(token)
                    self.parents.append(key[0])
                    self.sources.append([])
                if not self.sources[place] or self.sources[place][-1] != member:
                    self.sources[place].append(member)
                places.append(place)
            self.places.append(places)

    def __len__(self) -> int:
        return len(self.tokens)

    def path(self, tokens: Sequence[int]) -> list[int]:
        """The nodes along which these tokens go from the root, as far as the tree has them."""
        return followed(self._child, tokens)

    def majority(self, weights: Sequence[float]) -> tuple[list[int], int | None]:
        """The majority-approved output: from the root on the child that weighs most, down to a leaf.

        A node weighs the sum of the weights of its members. Of equal children the one of the earlier member is taken.

        Args:
            weights: (m,) of the members.

        Returns:
            Its nodes, and the member whose chain that is (voted_SSM; of several that agree the one that weighs most);
            an empty one and None where nobody guessed anything.
        """
        children: dict[int, list[int]] = {}
        for node, parent in enumerate(self.parents):
            children.setdefault(parent, []).append(node)
        found: list[int] = []
        at = ROOT
        while at in children:
            at = max(children[at], key=lambda node: sum(weights[member] for member in self.sources[node]))
            found.append(at)
        if not found:
            return found, None
        return found, max(self.sources[at], key=lambda member: weights[member])
