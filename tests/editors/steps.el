;;; steps.el --- What a person does in Emacs -*- lexical-binding: t -*-
;; Says as JSON, in the file that $STEPS_RESULT names, what came of it.

(require 'json)

(defvar steps-messages nil)

(advice-add 'eglot--message :before
            (lambda (format &rest values) (push (apply #'format format values) steps-messages)))

(defun steps-wait (what is-done)
  "Wait until IS-DONE gives something, and return it."
  (let ((deadline (+ (float-time) 60)) found)
    (while (not (setq found (funcall is-done)))
      (when (> (float-time) deadline) (error "Waited in vain for %s" what))
      (accept-process-output nil 0.1))
    found))

(defun steps-ask (method params)
  (jsonrpc-request (eglot-current-server) method params :timeout 60))

(defun steps-symbols (query)
  (mapcar #'xref-item-summary (xref-backend-apropos 'eglot query)))

(defun steps-named (name query)
  (seq-some (lambda (summary) (string-match-p name summary)) (steps-symbols query)))

(defun steps ()
  (find-file "src/cart.py")
  (apply #'eglot--connect (eglot--guess-contact))
  (steps-wait "the index" (lambda () (steps-named "total_price" "total price")))
  (goto-char (point-max))
  (insert "\n\ndef count_zebra_stripes(zebra, both_sides):\n"
          "    \"\"\"How many stripes a zebra has, on one side of its body or on both.\"\"\"\n"
          "    left = len(zebra.left_side.stripes)\n"
          "    return left + len(zebra.right_side.stripes) if both_sides else left\n")
  (eglot--signal-textDocument/didChange)
  (let ((unsaved (steps-wait "unsaved text" (lambda () (steps-named "count_zebra_stripes" "zebra stripes"))))
        actions hover)
    (goto-char (point-min))
    (search-forward "def total_price")
    (let ((place (eglot--TextDocumentPositionParams))
          (range (list :start (eglot--pos-to-lsp-position (line-beginning-position))
                       :end (eglot--pos-to-lsp-position (line-end-position)))))
      (setq actions (append (steps-ask :textDocument/codeAction
                                       (list :textDocument (eglot--TextDocumentIdentifier)
                                             :range range :context '(:diagnostics [])))
                            nil))
      (let ((command (plist-get (car actions) :command)))
        (eglot-execute-command (eglot-current-server) (intern (plist-get command :command))
                               (plist-get command :arguments)))
      (setq hover (steps-wait "a hover"
                              (lambda ()
                                (let* ((answer (steps-ask :textDocument/hover place))
                                       (text (plist-get (plist-get answer :contents) :value)))
                                  (and text (string-match-p "Memories" text) text))))))
    `((unsaved . ,(and unsaved t)) (modified . ,(and (buffer-modified-p) t)) (hover . ,hover)
      (actions . ,(vconcat (mapcar (lambda (action) (plist-get action :title)) actions)))
      (messages . ,(vconcat steps-messages)))))

(let ((result (condition-case problem (steps)
                (error `((problem . ,(error-message-string problem)))))))
  (with-temp-file (getenv "STEPS_RESULT") (insert (json-encode result)))
  (set-buffer-modified-p nil)
  (kill-emacs 0))
