"""conv2d with two pixels a multiply, for cores without SIMD: the kernels of device/kernels/conv2d/pair.h."""

from __future__ import annotations

from collections.abc import Mapping

from rushlight.graph import Graph, Op
from rushlight.ops.base import Kernel, ParamsType
from rushlight.ops.common.pairs import PIXELS, pair_plan
from rushlight.ops.common.walks import pair_pixels
from rushlight.ops.common.weighted import ChannelTerms
from rushlight.ops.common.window import WINDOW_FIELDS, window_params

PAIR_PARAMS = ParamsType(
    "rl_conv2d_pair_params",
    (
        *WINDOW_FIELDS,
        ("depth", "int32_t", 1),
        ("groups", "int16_t", 1),
        ("group_in", "int16_t", 1),
        ("group_out", "int16_t", 1),
        ("run_taps", "int16_t", 1),
        ("in_zero_point", "int16_t", 1),
        ("out_zero_point", "int16_t", 1),
        ("out_min", "int16_t", 1),
        ("out_max", "int16_t", 1),
        ("channel_bytes", "int16_t", 1),
        ("padded", "int16_t", 1),
    ),
)
#: Bytes that a pair kernel may take, or a quarter of its tensors, or as much as the hungriest layer has more in its own.
SCRATCH = 4096


def pair_kernels(op: Op, graph: Graph, tier: str, terms: ChannelTerms, note: str) -> tuple[list[Kernel], list[Kernel]]:
    """The kernels for this layer that gain on the plain one, best first, and those that do not, or ask for much memory."""
    x, w, _ = graph.ins(op)
    y = graph.outs(op)[0]
    attrs = op.attrs
    assert w.data is not None
    rows = w.data.reshape(w.shape[0], -1)
    run_taps = attrs.kernel[1] if attrs.groups == 1 and attrs.dilation[1] == 1 else 1
    params = window_params(x, y, attrs) | {
        "depth": rows.shape[1],
        "groups": attrs.groups,
        "group_in": w.shape[3],
        "group_out": w.shape[0] // attrs.groups,
        "run_taps": run_taps,
        "in_zero_point": x.q.z,
        "out_zero_point": y.q.z,
        "out_min": attrs.out_min,
        "out_max": attrs.out_max,
        "padded": int(any(attrs.padding)),
    }
    held = x.nbytes + y.nbytes
    room = max(SCRATCH, held // 4, _hungriest(graph) - held)
    outputs, runs = y.elements // w.shape[0], attrs.kernel[0] * attrs.kernel[1] // run_taps
    better: list[tuple[float, Kernel]] = []
    others: list[Kernel] = []
    for pixels in PIXELS:
        plan = pair_plan(tier, pixels, rows, terms, (y.q.z, attrs.out_min, attrs.out_max))
        if plan is None:
            continue
        kernel = Kernel(
            symbol=f"rl_conv2d_s8_{tier}_pair{pixels}",
            tier=tier,
            header="conv2d/pair.h",
            sources=(
                f"conv2d/{tier}_pair.c",
                "conv2d/pair_walk.c",
                *(f"common/pair{each}_{tier}.c" for each in (8, 4)),
            ),
            params_type=PAIR_PARAMS,
            params=params | {"channel_bytes": plan.channel_bytes},
            constants=plan.constants(attrs.groups),
            takes_scratch=True,
            scratch=2 * pixels * rows.shape[1] + 3 * run_taps * w.shape[3] * params["padded"],
            note=note,
        )
        cost = plan.cost(outputs, runs, attrs.groups)
        affordable = kernel.scratch <= room and plan.filled(attrs.groups) <= max(256, rows.nbytes // 4)
        if affordable and cost < plan.plain_cost(outputs):
            better.append((cost, kernel))
        else:
            others.append(kernel)
    return [kernel for _, kernel in sorted(better, key=lambda pair: pair[0])], others


def pair_features(kernel: Kernel) -> Mapping[str, float]:
    """How often the loops of such a kernel run."""
    p = kernel.params
    channels = p["groups"] * p["group_out"]
    # v7m: each group's length among the weights, and a 0 a channel; v6m: apart, and the number of groups a channel.
    apart = kernel.tier == "v6m"
    lengths = kernel.constants[1].data.size if apart else kernel.constants[0].data.size - channels * p["depth"]
    return pair_pixels(p, lengths - channels, int(kernel.symbol[-1]))


def _hungriest(graph: Graph) -> int:
    """Bytes of the tensors of the operator that has most, constants left out: the arena holds them in any case."""
    return max(sum(graph[n].nbytes for n in {*op.inputs, *op.outputs} if not graph[n].constant) for op in graph.ops)
