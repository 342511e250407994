"""From a PyTorch model to its answers on three Cortex-M chips. README.md says more; `--help` lists the options."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rushlight import RushlightError

CALIBRATION_IMAGES = 256


def demonstrate(epochs: int, count: int, out: Path) -> bool:
    """Trains, quantises, compiles, runs and tells; whether each chip answered exactly as the reference does."""
    from tell import Steps, show, write_json

    out.mkdir(parents=True, exist_ok=True)
    steps = Steps()
    with steps.step("load PyTorch and the digits") as say:
        import torch

        import rushlight as rl
        from chips import TARGETS, run_on
        from net import load, train
        from picture import draw

        training, test = load()
        test = test.first(count)
        images, labels = test.images.numpy(), test.labels.numpy()
        say(f"{len(training)} to train with, {len(test)} others to test with")

    with steps.step("train a small CNN") as say:
        model = train(training, epochs, lambda epoch, loss: say(f"epoch {epoch} of {epochs}, loss {loss:.4f}"))
        with torch.no_grad():
            float_answers = model(test.images).argmax(dim=1).numpy()

    with steps.step("quantise it to int8") as say:
        batches = [(training.images[i : i + 1],) for i in range(CALIBRATION_IMAGES)]
        quantized = rl.quantize(
            model, batches[0], batches, lambda done, _: say(f"calibrated on {done} training images")
        )

    chips = []
    for target in TARGETS:
        with steps.step(f"compile for {target}, run {len(test)} images") as say:
            chips.append(run_on(target, quantized, images, out / target))
            say(f"{chips[-1].board}, emulated")

    picture = out / "digits.png"
    with steps.step("draw some of the answers"):
        draw(images, labels, chips[0].probabilities, picture)
    write_json(labels, float_answers, chips, out / "results.json")
    show(labels, float_answers, chips)
    print(f"  picture  {picture}")
    print(f"  C code   {out / TARGETS[0]} and its neighbours; `make` builds each")
    print(f"  numbers  {out / 'results.json'}")
    return all(chip.differing == 0 for chip in chips)


def main() -> int:
    """0, or with one line on stderr: 1 if a chip answered otherwise than the reference, 2 if it could not be asked."""
    parser = argparse.ArgumentParser(
        description="Train a small net on handwritten digits and run it on three emulated chips."
    )
    parser.add_argument("--epochs", type=_count, default=20, help="of training (20)")
    parser.add_argument("--images", type=_count, default=500, help="to test with, at most 500 (500)")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="folder for what is made (build/demo)")
    options = parser.parse_args()
    try:
        if demonstrate(options.epochs, options.images, options.out):
            return 0
        print("demo: a chip's answers are not those of the reference", file=sys.stderr)
        return 1
    except RushlightError as error:
        print(f"demo: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(
            f"demo: {error.name} is not installed: `make setup`, or pip install 'rushlight[torch,demo]'",
            file=sys.stderr,
        )
    except OSError as error:
        print(f"demo: {error.filename or options.out}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("demo: stopped", file=sys.stderr)
        return 130
    return 2


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 up")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(main())
