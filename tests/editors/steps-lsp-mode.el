;;; steps-lsp-mode.el --- What a person does in Emacs with lsp-mode -*- lexical-binding: t -*-

(load (expand-file-name "steps-common.el" (file-name-directory load-file-name)) nil t)

(setq lsp-session-file (expand-file-name "lsp-session" (getenv "XDG_STATE_HOME"))
      lsp-enable-snippet nil lsp-enable-file-watchers nil lsp-restart 'ignore)

(defun steps-named (name query)
  (seq-find (lambda (symbol) (equal name (gethash "name" symbol)))
            (ignore-errors (lsp-request "workspace/symbol" (list :query query)))))

(defun steps ()
  (lsp-workspace-folders-add default-directory)
  (find-file "src/cart.py")
  (lsp)
  (steps-wait "the index" (lambda () (steps-named "total_price" "total price")))
  (steps-type-zebra)
  (let ((unsaved (steps-wait "unsaved text" (lambda () (steps-named "count_zebra_stripes" "zebra stripes")))))
    (goto-char (point-min))
    ;; The docstring: code is no note.
    (search-forward "def total_price")
    (forward-line 1)
    (transient-mark-mode 1)
    (push-mark (line-end-position) t t)
    (let* ((actions (append (lsp-code-actions-at-point) nil))
           (titles (vconcat (mapcar #'lsp:code-action-title actions))))
      (lsp-execute-code-action (car actions))
      (goto-char (point-min))
      (search-forward "def total_")
      (let ((hover (steps-wait "a hover"
                               (lambda ()
                                 (let* ((answer (lsp-request "textDocument/hover" (lsp--text-document-position-params)))
                                        (text (and answer (gethash "value" (gethash "contents" answer)))))
                                   (and text (string-match-p "Memories" text) text))))))
        `((unsaved . ,(and unsaved t)) (actions . ,titles) (hover . ,hover))))))

(steps-tell #'steps)
