/** Why an operation has no answer, which a screen reader says at once. */
export function Problem({ text }) {
  return (
    <p role="alert" className="problem">
      {text}
    </p>
  );
}
