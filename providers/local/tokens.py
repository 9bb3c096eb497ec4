"""Text to token ids, as sentence-transformers does it for this model, without reading all of a long text."""

from pathlib import Path

from tokenizers import Tokenizer

MAX_TOKENS = 256  # max_seq_length of the model's sentence_bert_config.json, [CLS] and [SEP] included
CLS, SEP = 101, 102
_BODY = MAX_TOKENS - 2

FIRST_WINDOW = 4_096  # characters; holds 254 words of nearly any language
WINDOW_GROWTH = 8
# A window may end inside a word, or inside a special token such as "[SEP]", which then reads as two words.
_UNSETTLED_WORDS = 2


class TextEncoder:
    """The model's WordPiece tokenizer. Raises whatever `tokenizers` raises when the file is not usable."""

    def __init__(self, tokenizer_file: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer_file))
        # The file asks for 128 tokens, always padded; the model was published to be used with 256.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def encode(self, text: str) -> list[int]:
        """Return at most 256 ids, [CLS] first and [SEP] last; an empty text gives these two.

        Lone surrogates are left out: no encoding of Unicode can express them, and one broken character is no
        reason to refuse a text. The tokenizer itself leaves out NUL and other control characters.
        """
        window = FIRST_WINDOW
        while (body := self._encode_start(text, window)) is None:
            window *= WINDOW_GROWTH
        return [CLS, *body, SEP]

    def _encode_start(self, text: str, window: int) -> list[int] | None:
        """Return the first 254 ids, or None if more than `window` characters must be read to know them."""
        seen = text[:window].encode("utf-8", "ignore").decode()
        encoding = self._tokenizer.encode(seen, add_special_tokens=False)
        if window < len(text) and _count_words(encoding.word_ids) < _BODY + _UNSETTLED_WORDS:
            return None
        ids: list[int] = encoding.ids[:_BODY]
        return ids


def _count_words(word_ids: list[int | None]) -> int:
    """Count words; each gives at least one token, so 254 complete words settle 254 tokens."""
    return (word_ids[-1] or 0) + 1 if word_ids else 0
