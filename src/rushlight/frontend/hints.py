"""What to do instead of an ATen operator that has no kernel, by its name without overload."""

from __future__ import annotations

from collections.abc import Mapping

_OTHERWISE = "replace it by supported operators, or run this part outside of the model"
_PICK = "let the layer before give the parts as outputs of its own, or cut outside of the model"
_MASK = "multiply by a mask that is an input of the model, or use relu or clamp"
_NORM = "use nn.BatchNorm, which is folded into the layer before"
_REDUCE = "take it outside of the model"
_MATMUL = (
    "a linear layer needs a constant weight; a product of two activations has no kernel: run it outside of the model"
)

_HINTS: Mapping[str, str] = {
    "conv1d": "use nn.Conv2d with height 1: x.unsqueeze(2), kernel (1, k)",
    "conv3d": "use nn.Conv2d, with depth as channels",
    **dict.fromkeys(
        ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
        "use nn.Conv2d with more channels, and a reshape and permute to spread them (pixel shuffle)",
    ),
    **dict.fromkeys(("matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "dot", "mv"), _MATMUL),
    "scaled_dot_product_attention": "attention multiplies activations, which has no kernel: run it outside of the model",
    **dict.fromkeys(
        ("slice", "select", "split", "split_with_sizes", "chunk", "unbind", "narrow", "index", "index_select", "gather"),
        _PICK,
    ),
    "sum": "use mean over these dimensions and multiply by the count",
    **dict.fromkeys(("where", "masked_fill", "gt", "ge", "lt", "le", "eq", "ne", "logical_and", "logical_not"), _MASK),
    **dict.fromkeys(("maximum", "fmax"), "use relu: max(a, b) = b + relu(a - b)"),
    **dict.fromkeys(("minimum", "fmin"), "use relu: min(a, b) = a - relu(a - b)"),
    **dict.fromkeys(("amax", "max"), "use nn.MaxPool2d over the whole height and width, if these are its dimensions"),
    "adaptive_max_pool2d": "use nn.MaxPool2d with a fixed kernel and stride",
    **dict.fromkeys(("argmax", "argmin", "topk", "sort", "cumsum", "var", "std", "prod", "linalg_vector_norm"), _REDUCE),
    **dict.fromkeys(("layer_norm", "group_norm", "instance_norm", "rms_norm"), _NORM),
    **dict.fromkeys(("expand", "expand_as", "repeat", "tile"), "let add or mul broadcast, or use torch.cat"),
    **dict.fromkeys(("roll", "flip"), "reorder the data outside of the model"),
    **dict.fromkeys(("log_softmax", "_log_softmax"), "end in softmax; the order of the classes is the same"),
    **dict.fromkeys(
        ("upsample_nearest1d", "upsample_nearest2d", "upsample_bilinear2d", "upsample_bicubic2d"),
        "resize outside of the model",
    ),
    **dict.fromkeys(("prelu", "_prelu_kernel"), "use nn.LeakyReLU with a fixed slope"),
    **dict.fromkeys(("lstm", "gru", "rnn_tanh", "rnn_relu"), "write one step with linear layers, state as input and output"),
    "embedding": "look the rows up outside of the model and give them as a float32 input",
    **dict.fromkeys(("rand", "randn", "rand_like", "randn_like", "bernoulli"), "make random numbers an input of the model"),
    **dict.fromkeys(("to", "_to_copy", "type_as"), "convert outside of the model: give float32 inputs"),
}  # fmt: skip


def hint_for(target: str) -> str:
    """The advice for "conv1d.default"; what is true of any operator where there is none of its own."""
    return _HINTS.get(target.partition(".")[0], _OTHERWISE)
