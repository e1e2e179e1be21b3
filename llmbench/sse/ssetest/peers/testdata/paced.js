// The k6 script of BenchmarkPaced: each virtual user reads one answer and counts its events.
import http from "k6/http";
import { check } from "k6";

const tokens = Number(__ENV.TOKENS);
const body = JSON.stringify({
  model: "mock", stream: true, max_tokens: tokens, messages: [{ role: "user", content: "three words here" }],
});

export const options = {
  scenarios: { paced: { executor: "per-vu-iterations", vus: Number(__ENV.STREAMS), iterations: 1, maxDuration: "2m" } },
  thresholds: { checks: ["rate==1"] },
};

export default function () {
  const answer = http.post(`${__ENV.URL}/v1/chat/completions`, body, { headers: { "Content-Type": "application/json" } });
  check(answer, { whole: (a) => a.status === 200 && a.body.split('"finish_reason":null').length > tokens - 1 && a.body.includes("[DONE]") });
}
