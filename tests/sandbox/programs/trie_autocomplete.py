from typing import Dict, List


class TrieNode:
    def __init__(self):
        self.children: Dict[str, "TrieNode"] = {}
        self.is_end: bool = False


class Trie:
    """Prefix tree of lower-case words."""

    def __init__(self, words=()):
        self.root = TrieNode()
        for word in words:
            self.insert(word)

    def insert(self, word: str) -> None:
        node = self.root
        for ch in word:
            node = node.children.setdefault(ch, TrieNode())
        node.is_end = True

    def _find(self, prefix: str):
        node = self.root
        for ch in prefix:
            if ch not in node.children:
                return None
            node = node.children[ch]
        return node

    def search(self, word: str) -> bool:
        node = self._find(word)
        return node is not None and node.is_end

    def starts_with(self, prefix: str) -> bool:
        return self._find(prefix) is not None

    def complete(self, prefix: str) -> List[str]:
        found: List[str] = []

        def walk(node: TrieNode, path: str) -> None:
            if node.is_end:
                found.append(path)
            for ch in sorted(node.children):
                walk(node.children[ch], path + ch)

        start = self._find(prefix)
        if start:
            walk(start, prefix)
        return found


trie = Trie(["car", "card", "care", "cat", "dog"])
assert trie.search("car") and not trie.search("ca")
assert trie.starts_with("ca") and not trie.starts_with("x")
assert trie.complete("car") == ["car", "card", "care"]
assert trie.complete("z") == []
"ok"
