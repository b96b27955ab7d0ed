;;; steps-common.el --- What the steps in Emacs share -*- lexical-binding: t -*-

(require 'json)

(defun steps-wait (what is-done)
  "Wait until IS-DONE gives something, and return it."
  (let ((deadline (+ (float-time) 60)) found)
    (while (not (setq found (funcall is-done)))
      (when (> (float-time) deadline) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.1))
    found))

(defun steps-type-zebra ()
  "Type a function at the end of the buffer, without saving it."
  (goto-char (point-max))
  (insert "\n\ndef count_zebra_stripes(zebra, both_sides):\n"
          "    \"\"\"How many stripes a zebra has, on one side of its body or on both.\"\"\"\n"
          "    left = len(zebra.left_side.stripes)\n"
          "    return left + len(zebra.right_side.stripes) if both_sides else left\n"))

(defun steps-tell (steps)
  "Say as JSON, in the file that $STEPS_RESULT names, what came of STEPS, and end."
  (let ((result (condition-case problem (funcall steps)
                  (error `((problem . ,(error-message-string problem)))))))
    (with-temp-file (getenv "STEPS_RESULT") (insert (json-encode result)))
    (set-buffer-modified-p nil)
    (kill-emacs 0)))
