/** The state of an operation: why it has no answer, which a screen reader says at once, or that the answer is not there yet. Nothing once it is. */
export function Outcome({ answer, problem }) {
  if (!problem && !answer)
    return (
      <p role="status" className="faint reading">
        Reading…
      </p>
    );
  return <Problem text={problem} />;
}

/** Why an operation has no answer. */
export function Problem({ text }) {
  return (
    <p role="alert" className="problem">
      {text}
    </p>
  );
}
