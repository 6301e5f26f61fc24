"""
Thresholds along a run
======================

How scores and thresholds of a machine settle while the duality gap closes. Move the slider below: it goes through the
looks at one run of greedy coordinate descent.
"""

import json

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from ordsvm import SVOR
from ordsvm.datasets import load_diabetes_ranks

X, y = load_diabetes_ranks(4)
X = StandardScaler().fit_transform(X)
model = SVOR(C=10.0, gamma=0.05, solver="gcd").fit(X, y, validation=(X, y))
looks = model.result_.history
print(f"{len(looks)} looks, {model.result_.n_iter:,} steps, relative gap {model.result_.relative_gap:.0e}")

# %%
# Two kinds of thresholds: those that minimise the primal for the scores of the moment (lines), and −γ, which the dual
# has (dots), and which can be out of order on the way. At the end both are the same.

steps = [look.n_iter for look in looks]
figure, axes = plt.subplots(2, 1, figsize=(7, 6), sharex=True, layout="constrained")
axes[0].plot(steps, [look.thresholds for look in looks])
axes[0].plot(steps, [look.dual_thresholds for look in looks], ".", ms=3, color="grey")
axes[0].set(ylabel="thresholds")
axes[1].semilogy(steps, [look.relative_gap for look in looks], label="relative gap")
axes[1].semilogy(steps, [look.validation_mae for look in looks], label="mean distance in ranks")
axes[1].set(xlabel="steps")
axes[1].legend()
plt.show()

# %%
# The same by hand.


class Slider:
    """A slider over the looks: thresholds on the line of scores, and the gap. Plain SVG, no library."""

    def __init__(self, looks):
        self.frames = [
            {"steps": look.n_iter, "gap": look.relative_gap, "b": np.round(look.thresholds, 3).tolist()}
            for look in looks
        ]

    def _repr_html_(self):
        return PAGE.replace("FRAMES", json.dumps(self.frames))


PAGE = """
<div class="run-slider"><input type="range" min="0" value="0" style="width: 100%" aria-label="look">
<svg viewBox="0 0 700 90" style="width: 100%; color: currentColor"></svg><p></p></div>
<script>
(() => {
  const frames = FRAMES, root = document.currentScript.previousElementSibling;
  const [input, svg, text] = root.children, all = frames.flatMap(f => f.b);
  const low = Math.min(...all) - 0.5, high = Math.max(...all) + 0.5, x = b => 700 * (b - low) / (high - low);
  input.max = frames.length - 1;
  const draw = () => {
    const f = frames[input.value];
    svg.innerHTML = '<line x1="0" y1="45" x2="700" y2="45" stroke="currentColor"/>' + f.b.map((b, k) =>
      `<line x1="${x(b)}" y1="15" x2="${x(b)}" y2="75" stroke="#459db9" stroke-width="4"/>
       <text x="${x(b)}" y="88" text-anchor="middle" font-size="12" fill="currentColor">b${k + 1}</text>`).join("");
    text.textContent = `${f.steps} steps, relative gap ${f.gap.toExponential(1)}`;
  };
  input.addEventListener("input", draw);
  draw();
})();
</script>
"""

Slider(looks)
